import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { AccountForm } from "../parts/account-form.tsx";
import { Field, textOf } from "../parts/field.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { nextPath } from "../parts/signed-in.tsx";
import { confirmAddress } from "../session.ts";
import { useAction } from "../use-resource.ts";

export function SignUp() {
  const { query } = useLocation();
  const [account, setAccount] = useState<{ email: string; password: string } | null>(null);
  const create = useAction(async (form: HTMLFormElement) => {
    const email = textOf(form, "email");
    const password = String(new FormData(form).get("password"));
    const phone = textOf(form, "phone");
    await campus.auth.signUp({ email, password, fullName: textOf(form, "fullName"), ...(phone && { phone }) });
    setAccount({ email, password });
  });
  if (account) return <ConfirmAddress {...account} />;
  return (
    <Page title="Create an account" class="narrow">
      <AccountForm
        send={create}
        button="Create account"
        below={
          <p>
            Already here? <a href={`/sign-in?next=${encodeURIComponent(nextPath(query))}`}>Sign in</a>
          </p>
        }
      >
        <Field label="Full name" name="fullName" autocomplete="name" required maxLength={200} />
        <Field
          label="Mail address"
          name="email"
          type="email"
          autocomplete="username"
          required
          maxLength={320}
          hint="Your university address shows your campus first."
        />
        <Field
          label="Phone (optional)"
          name="phone"
          type="tel"
          autocomplete="tel"
          placeholder="+2348031234567"
          hint="Delivery PINs come by text message."
        />
        <Field
          label="Password"
          name="password"
          type="password"
          autocomplete="new-password"
          required
          hint="At least 10 characters."
        />
      </AccountForm>
    </Page>
  );
}

/** The code of the mail, which proves the address. */
export function ConfirmAddress({ email, password }: { email: string; password: string }) {
  const { query, route } = useLocation();
  const [sent, setSent] = useState(false);
  const confirm = useAction(async (form: HTMLFormElement) => {
    await confirmAddress(email, textOf(form, "code"), password, new FormData(form).has("keep"));
    route(nextPath(query), true);
  });
  const resend = useAction(async () => {
    setSent(false);
    await campus.auth.requestCode({ email });
    setSent(true);
  });
  return (
    <Page title="Confirm your mail address" class="narrow">
      <AccountForm
        send={confirm}
        button="Confirm"
        below={
          <>
            <p role="status">{sent && "A new code is on its way."}</p>
            <Problem error={resend.error} />
            <button type="button" class="link" disabled={resend.busy} onClick={() => resend.run()}>
              Send the code again
            </button>
          </>
        }
      >
        <p>
          Enter the code of the mail to <b>{email}</b>.
        </p>
        <div class="field">
          <label for="code">Code</label>
          <input
            id="code"
            name="code"
            class="code"
            inputMode="numeric"
            autocomplete="one-time-code"
            maxLength={40}
            title="The six digits of the mail"
            required
          />
        </div>
        <label class="check">
          <input type="checkbox" name="keep" /> Stay signed in on this device
        </label>
      </AccountForm>
    </Page>
  );
}
