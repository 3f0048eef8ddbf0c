import { ApiError, CampusError, TransportError } from "campus-client";

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
      <p>{error.detail || error.title}</p>
      {error.invalidParams.length > 0 && (
        <ul>
          {error.invalidParams.map(({ name, reason }) => (
            <li key={name}>
              <b>{name}</b>: {reason}
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

function withoutAnswer(error: unknown): string {
  if (!navigator.onLine) return "You are offline. This page loads as soon as you are connected.";
  if (error instanceof TransportError) return "The marketplace does not respond. Check your connection, then try again.";
  if (error instanceof CampusError) return `${error.message} Try again.`;
  return "Something failed in this app. Reload the page.";
}
