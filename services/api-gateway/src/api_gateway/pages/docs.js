// Shows openapi.json. Nothing is requested from elsewhere: no validator badge, no remote fonts, no other servers.
window.ui = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  tryItOutEnabled: false,
  persistAuthorization: false,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  syntaxHighlight: { activated: true, theme: "agate" },
  // The viewer gives its list of servers no name.
  onComplete: () => document.getElementById("servers")?.setAttribute("aria-label", "Server"),
});
