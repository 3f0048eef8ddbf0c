"""The receivers of messages: text message, mail, messaging app, push, on-call and traces."""
