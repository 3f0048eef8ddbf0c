import { ApiError } from "campus-client";
import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";

import { AccountForm } from "../parts/account-form.tsx";
import { Field, textOf } from "../parts/field.tsx";
import { Page } from "../parts/page.tsx";
import { nextPath } from "../parts/signed-in.tsx";
import { signIn } from "../session.ts";
import { useAction } from "../use-resource.ts";
import { ConfirmAddress } from "./sign-up.tsx";

export function SignIn() {
  const { query, route } = useLocation();
  const [unconfirmed, setUnconfirmed] = useState<{ email: string; password: string } | null>(null);
  const enter = useAction(async (form: HTMLFormElement) => {
    const email = textOf(form, "email");
    const password = String(new FormData(form).get("password"));
    try {
      await signIn(email, password, new FormData(form).has("keep"));
      route(nextPath(query), true);
    } catch (error) {
      if (!(error instanceof ApiError && error.problem.confirmationRequired)) throw error;
      setUnconfirmed({ email, password });
    }
  });
  const next = encodeURIComponent(nextPath(query));
  if (unconfirmed) return <ConfirmAddress {...unconfirmed} />;
  return (
    <Page title="Sign in" class="narrow">
      <AccountForm
        send={enter}
        button="Sign in"
        below={
          <>
            <p>
              <a href={`/forgotten-password?next=${next}`}>Forgotten password</a>
            </p>
            <p>
              New here? <a href={`/sign-up?next=${next}`}>Create an account</a>
            </p>
          </>
        }
      >
        <Field label="Mail address" name="email" type="email" autocomplete="username" required maxLength={320} />
        <Field label="Password" name="password" type="password" autocomplete="current-password" required />
        <label class="check">
          <input type="checkbox" name="keep" /> Stay signed in on this device
        </label>
      </AccountForm>
    </Page>
  );
}
