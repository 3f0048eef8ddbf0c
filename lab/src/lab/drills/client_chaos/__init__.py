"""`make client-chaos`: both clients as users in network namespaces of their own, while servers are killed."""
