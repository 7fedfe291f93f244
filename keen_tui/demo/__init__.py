"""The guided tour: a scripted model server on loopback and the script it plays."""
