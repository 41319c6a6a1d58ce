"""What happens to the whole product when its process is killed, stopped or started twice."""
