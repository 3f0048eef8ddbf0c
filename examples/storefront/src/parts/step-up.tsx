import { ApiError, type EnrolledFactor } from "campus-client";

import { campus } from "../api.ts";
import { useAction, useResource } from "../use-resource.ts";
import { Field, textOf } from "./field.tsx";
import { Loaded } from "./loading.tsx";
import { Problem } from "./problem.tsx";

/** Whether the API refused an action because the session has shown no second factor in the last 15 minutes. */
export function needsStepUp(error: unknown): boolean {
  return error instanceof ApiError && error.code === "AUTH_AAL2_REQUIRED";
}

/**
 * Asks for the second factor; an account without one sets up an authenticator app first. `done` repeats the refused
 * action, whose form stays as it is.
 */
export function StepUp({ done }: { done: () => void }) {
  const factors = useResource((signal) => campus.auth.listFactors({ signal }), []);
  return (
    <section class="panel" aria-labelledby="step-up">
      <h2 id="step-up">Confirm that it is you</h2>
      <Loaded from={factors}>
        {(items) => (items.some((factor) => factor.confirmed) ? <Code done={done} /> : <SetUp done={done} />)}
      </Loaded>
    </section>
  );
}

function Code({ done, factor }: { done: () => void; factor?: EnrolledFactor }) {
  const confirm = useAction(async (form: HTMLFormElement) => {
    await campus.stepUp(textOf(form, "code").replaceAll(" ", ""), factor?.factorId);
    done();
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    confirm.run(event.currentTarget as HTMLFormElement);
  };
  return (
    <form onSubmit={submit}>
      <Field
        label="Code"
        name="code"
        autocomplete="one-time-code"
        hint={factor ? "Six digits of your authenticator app" : "Six digits of your authenticator app, or a recovery code"}
        required
        maxLength={40}
      />
      <Problem error={confirm.error} />
      <button class="main" disabled={confirm.busy}>
        Confirm
      </button>
    </form>
  );
}

function SetUp({ done }: { done: () => void }) {
  const enrolled = useResource((signal) => campus.auth.enrollFactor({}, { signal }), []);
  return (
    <Loaded from={enrolled}>
      {(factor) => (
        <>
          <p>
            Money leaves the marketplace only with a second factor, and your account has none. Add this secret to an
            authenticator app, then enter the code that the app shows.
          </p>
          <p>
            <code data-testid="factor-secret">{factor.secret}</code>
          </p>
          <p>
            <a href={factor.otpauthUri}>Open it in an app of this device</a>
          </p>
          <Code done={done} factor={factor} />
        </>
      )}
    </Loaded>
  );
}
