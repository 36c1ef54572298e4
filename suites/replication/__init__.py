"""Does a cluster of brokers keep what one copy could not?"""
