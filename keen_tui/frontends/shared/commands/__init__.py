"""The commands of both front ends for a person, each declared beside what it does."""
