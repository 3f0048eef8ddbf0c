import { ApiError } from "campus-client";
import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";

import { Field, textOf } from "../parts/field.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
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
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    enter.run(event.currentTarget as HTMLFormElement);
  };
  if (unconfirmed) return <ConfirmAddress {...unconfirmed} />;
  return (
    <Page title="Sign in" class="narrow">
      <form class="panel" onSubmit={submit}>
        <Field label="Mail address" name="email" type="email" autocomplete="username" required maxLength={320} />
        <Field label="Password" name="password" type="password" autocomplete="current-password" required />
        <label class="check">
          <input type="checkbox" name="keep" /> Stay signed in on this device
        </label>
        <Problem error={enter.error} />
        <button class="main wide" disabled={enter.busy}>
          Sign in
        </button>
        <p>
          <a href={`/forgotten-password?next=${encodeURIComponent(nextPath(query))}`}>Forgotten password</a>
        </p>
        <p>
          New here? <a href={`/sign-up?next=${encodeURIComponent(nextPath(query))}`}>Create an account</a>
        </p>
      </form>
    </Page>
  );
}
