import { ApiError, CampusError, TransportError } from "campus-client";

const MISSING = "This does not exist any more, or it belongs to another account.";

/** What failed, why, and what to do next; with the request id that support asks for. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error === null || error === undefined) return null;
  return (
    <div class="problem" role="alert">
      {error instanceof ApiError ? <Rejected error={error} /> : <p>{withoutAnswer(error)}</p>}
      {retry && (
        <button type="button" class="quiet" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

function Rejected({ error }: { error: ApiError }) {
  return (
    <>
      <p>{sentenceOf(error)}</p>
      {namesFields(error) && (
        <ul>
          {error.invalidParams.map(({ name, reason }) => (
            <li key={name}>
              <b>{labelOf(name)}</b> {reasonOf(reason)}
            </li>
          ))}
        </ul>
      )}
      {error.retryAfterSeconds !== undefined && <p>Try again in {Math.ceil(error.retryAfterSeconds)} seconds.</p>}
      {error.requestId && (
        <p class="request-id">
          Request <code>{error.requestId}</code>
        </p>
      )}
    </>
  );
}

/** A field of the API as words: `items.0.accountNumber` is "Account number". */
function labelOf(field: string): string {
  const name = (field.split(".").at(-1) ?? "").replace(/(Minor|Id)$/, "");
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A reason as it continues the label of its field. */
function reasonOf(reason: string): string {
  return reason
    .replace(/^String should have/, "needs")
    .replace(/^Input should/, "should")
    .replace(/^Field required$/, "is missing");
}

/** Whether the sentence of the API is only the list of the fields. */
function namesFields({ detail }: ApiError): boolean {
  return detail.startsWith("Not valid: ");
}

function sentenceOf(error: ApiError): string {
  const { status, detail, title } = error;
  if (status === 404) return MISSING;
  return namesFields(error) ? "Please correct this, then send it again." : detail || title;
}

function withoutAnswer(error: unknown): string {
  if (!navigator.onLine) return "You are offline. This page loads as soon as you are connected.";
  if (error instanceof TransportError) return "The marketplace does not respond. Check your connection, then try again.";
  if (error instanceof CampusError) return `${error.message} Try again.`;
  return "Something failed in this app. Reload the page.";
}
