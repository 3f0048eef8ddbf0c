"""Documents for integrators, generated from the code: OpenAPI, AsyncAPI, Postman collection, clients."""
