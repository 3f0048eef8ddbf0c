"""The public endpoints of a deployment: load balancer, mail server for submission, and name server, with their
faults.
"""
