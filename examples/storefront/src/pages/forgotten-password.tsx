import { useLocation } from "preact-iso";
import { useEffect, useState } from "preact/hooks";

import { campus } from "../api.ts";
import { AccountForm } from "../parts/account-form.tsx";
import { Field, textOf } from "../parts/field.tsx";
import { Page } from "../parts/page.tsx";
import { nextPath } from "../parts/signed-in.tsx";
import { useAction } from "../use-resource.ts";

/** A new password by the code of a mail. The mail's link has the code in its fragment, which reaches no server. */
export function ForgottenPassword() {
  const [code, setCode] = useState(codeOfLink);
  const [sentTo, setSentTo] = useState<string | null>(null);
  const [isChanged, setChanged] = useState(false);
  useEffect(() => {
    const read = () => {
      if (codeOfLink()) setCode(codeOfLink());
      // The code stays in no address of the browser's history.
      history.replaceState(null, "", location.pathname + location.search);
    };
    read();
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const startAgain = () => {
    setCode("");
    setSentTo(null);
  };
  return (
    <Page title="Forgotten password" class="narrow">
      {isChanged ? (
        <section class="panel">
          <p role="status">Your password is changed, and every device is signed out.</p>
          <a class="button wide" href="/sign-in">
            Sign in
          </a>
        </section>
      ) : code || sentTo !== null ? (
        <NewPassword code={code} sentTo={sentTo} changed={() => setChanged(true)} startAgain={startAgain} />
      ) : (
        <Request sent={setSentTo} />
      )}
    </Page>
  );
}

function codeOfLink(): string {
  return location.hash.slice(1);
}

function Request({ sent }: { sent: (email: string) => void }) {
  const { query } = useLocation();
  const request = useAction(async (form: HTMLFormElement) => {
    const email = textOf(form, "email");
    await campus.auth.forgotPassword({ email });
    sent(email);
  });
  return (
    <AccountForm
      send={request}
      button="Send the mail"
      below={
        <p>
          <a href={`/sign-in?next=${encodeURIComponent(nextPath(query))}`}>Back to the sign-in</a>
        </p>
      }
    >
      <Field
        label="Mail address"
        name="email"
        type="email"
        autocomplete="username"
        required
        maxLength={320}
        hint="We mail you a link to choose a new password."
      />
    </AccountForm>
  );
}

interface NewPasswordProps {
  code: string;
  sentTo: string | null;
  changed: () => void;
  startAgain: () => void;
}

function NewPassword({ code, sentTo, changed, startAgain }: NewPasswordProps) {
  const change = useAction(async (form: HTMLFormElement) => {
    const password = String(new FormData(form).get("password"));
    await campus.auth.resetPassword({ token: code || textOf(form, "code").replace(/\s/g, ""), password });
    changed();
  });
  return (
    <AccountForm
      send={change}
      button="Change the password"
      below={
        <button type="button" class="link" onClick={startAgain}>
          Send another mail
        </button>
      }
    >
      {sentTo !== null && (
        <p role="status">
          If <b>{sentTo}</b> has an account, a mail is on its way. Open its link, or enter its code here. Both work for 30
          minutes.
        </p>
      )}
      {!code && <Field label="Code of the mail" name="code" autocomplete="one-time-code" required maxLength={200} />}
      <Field
        label="New password"
        name="password"
        type="password"
        autocomplete="new-password"
        required
        hint="At least 10 characters. Every device is signed out."
      />
    </AccountForm>
  );
}
