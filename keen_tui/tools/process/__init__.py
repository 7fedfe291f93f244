"""Commands as processes: started, watched, ended, their output kept within bounds."""
