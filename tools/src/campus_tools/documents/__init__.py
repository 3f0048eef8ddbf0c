"""The documents that integrators read, generated from the code and checked in: OpenAPI, AsyncAPI, request collections."""
