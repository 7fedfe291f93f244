"""Events, pages and questions in lines of words, for front ends without a screen."""
