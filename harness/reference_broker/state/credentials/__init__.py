"""The credentials of users, as the metadata log has them."""
