"""What happens, what is shown and what is asked, in lines of words: for front ends without a screen."""
