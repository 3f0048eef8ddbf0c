// Offers a passkey as the second factor where the browser can do it.
const button = document.getElementById("passkey");
const form = document.getElementById("step-up");
if (button && window.PublicKeyCredential && PublicKeyCredential.parseRequestOptionsFromJSON) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const error = document.getElementById("passkey-error");
    error.textContent = "";
    try {
      const response = await fetch("/step-up/passkey", {
        method: "POST",
        body: new URLSearchParams({ _csrf: form.elements._csrf.value }),
      });
      if (!response.ok) throw new Error("no passkey is registered for this account");
      const challenge = await response.json();
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(challenge.publicKey);
      const credential = await navigator.credentials.get({ publicKey });
      form.elements._passkey.value = JSON.stringify({ challengeId: challenge.challengeId, credential: credential.toJSON() });
      form.requestSubmit();
    } catch (problem) {
      error.textContent = `The passkey was not used: ${problem.message}. Type a code instead.`;
    }
  });
}
