"""Files on the disk, read and replaced without surprises: what tools and storage share."""
