import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

interface Props {
  label: string;
  name: string;
  type?: "text" | "email" | "password" | "tel";
  hint?: ComponentChildren;
  autocomplete?: "name" | "username" | "tel" | "current-password" | "new-password" | "one-time-code";
  inputmode?: "decimal" | "numeric";
  placeholder?: string;
  required?: boolean;
  maxLength?: number;
  /** What the browser accepts; `title` explains it. */
  pattern?: string;
  title?: string;
}

/** A labelled input with an optional line of help. */
export function Field({ label, hint, ...input }: Props) {
  const id = useId();
  // Preact's types have one shape for each kind of input; `type` is one of several here.
  const attributes = input as JSX.IntrinsicElements["input"];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} aria-describedby={hint ? `${id}-hint` : undefined} {...attributes} />
      <Hint of={id}>{hint}</Hint>
    </div>
  );
}

interface LongTextProps {
  label: string;
  name: string;
  rows: number;
  maxLength: number;
  hint?: ComponentChildren;
}

/** A labelled text of several lines, which is required. */
export function LongText({ label, hint, ...area }: LongTextProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea id={id} required aria-describedby={hint ? `${id}-hint` : undefined} {...area} />
      <Hint of={id}>{hint}</Hint>
    </div>
  );
}

function Hint({ of, children }: { of: string; children: ComponentChildren }) {
  return children ? (
    <p class="hint" id={`${of}-hint`}>
      {children}
    </p>
  ) : null;
}

interface ChoiceProps {
  label: ComponentChildren;
  name: string;
  required?: boolean;
  /** Pairs of value and text. */
  options: [string, ComponentChildren][];
}

/** A labelled list of which one is chosen. */
export function Choice({ label, options, ...select }: ChoiceProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} {...select}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The text of a form's field. */
export function textOf(form: HTMLFormElement, name: string): string {
  return String(new FormData(form).get(name) ?? "").trim();
}
