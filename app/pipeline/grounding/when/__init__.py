"""Days and hours: found, put in their sense, and which are asked for."""
