// An identity provider with one user and one client. The argument is its configuration in JSON: port, clientId,
// clientSecret, redirectUri, logoutUri, email, acr, groups. It writes a line when it listens.
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const { port, clientId, clientSecret, redirectUri, logoutUri, email, acr, groups = [] } = JSON.parse(process.argv[2]);
const scope = "openid email groups";

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      response_types: ["code"],
      grant_types: ["authorization_code"],
      token_endpoint_auth_method: "client_secret_basic",
      backchannel_logout_uri: logoutUri,
      backchannel_logout_session_required: true,
    },
  ],
  acrValues: [acr],
  claims: { openid: ["sub", "acr", "amr", "auth_time"], email: ["email", "email_verified"], groups: ["groups"] },
  cookies: { keys: ["a key of cookies for tests"] },
  features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email, email_verified: true, groups }) }),
  async loadExistingGrant({ oidc }) {
    const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session.accountId });
    grant.addOIDCScope(scope);
    await grant.save();
    return grant;
  },
});
const answer = provider.callback();

// The user signs in without a form, by two factors.
createServer(async (request, response) => {
  if (!request.url.startsWith("/interaction/")) return answer(request, response);
  const login = { accountId: email, acr, amr: ["pwd", "otp"] };
  return provider.interactionFinished(request, response, { login });
}).listen(port, "127.0.0.1", () => console.log("listening"));
