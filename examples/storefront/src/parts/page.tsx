import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** The page that the browser loaded; every later one is a change by our own router. */
let isFirst = true;

interface Props {
  title: string;
  /** Content in one block with the heading. */
  hero?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}

/** A page with its heading. A reader of the screen or the keyboard starts at the heading of each new page. */
export function Page({ title, hero, children, class: name = "" }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!isFirst) {
      heading.current?.focus();
      scrollTo(0, 0);
    }
    isFirst = false;
  }, []);
  useEffect(() => {
    document.title = `${title} · Quad`;
  }, [title]);
  return (
    <div class={`page ${name}`}>
      <div class={hero ? "hero" : ""}>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {hero}
      </div>
      {children}
    </div>
  );
}
