"""The sweep: every version of every API that a target advertises, each answer decoded strictly."""
