import type { Inputs } from "preact/hooks";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Resource<T> {
  /** Undefined until the first answer. It stays while it is loaded again. */
  data: T | undefined;
  error: unknown;
  reload: () => void;
}

/** Load something when `inputs` change, and again when the connection returns after an error. */
export function useResource<T>(load: (signal: AbortSignal) => Promise<T>, inputs: Inputs): Resource<T> {
  const [state, setState] = useState<{ data: T | undefined; error: unknown }>({ data: undefined, error: null });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((count) => count + 1), []);

  useEffect(() => setState({ data: undefined, error: null }), inputs);
  useEffect(() => {
    const controller = new AbortController();
    load(controller.signal).then(
      (data) => controller.signal.aborted || setState({ data, error: null }),
      (error: unknown) => controller.signal.aborted || setState(({ data }) => ({ data, error })),
    );
    return () => controller.abort();
  }, [...inputs, round]);
  useEffect(() => {
    if (state.error === null) return;
    addEventListener("online", reload);
    return () => removeEventListener("online", reload);
  }, [state.error, reload]);

  return { ...state, reload };
}

export interface Action<A extends unknown[]> {
  /** A call while an earlier one runs has no effect: a double click is one request. */
  run: (...values: A) => void;
  busy: boolean;
  error: unknown;
}

/** An action of a button or a form. */
export function useAction<A extends unknown[]>(act: (...values: A) => Promise<void>): Action<A> {
  const running = useRef(false);
  const [state, setState] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: null });

  const run = (...values: A) => {
    // The state changes after the next rendering: two clicks of one moment would both see the former.
    if (running.current) return;
    running.current = true;
    setState({ busy: true, error: null });
    act(...values)
      .then(() => setState({ busy: false, error: null }))
      .catch((error: unknown) => setState({ busy: false, error }))
      .finally(() => (running.current = false));
  };
  return { run, ...state };
}
