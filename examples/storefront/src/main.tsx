import { render } from "preact";

import { Application } from "./application.tsx";
import { loadSession } from "./session.ts";

render(<Application />, document.getElementById("app")!);
void loadSession();

if (import.meta.env.PROD && "serviceWorker" in navigator) {
  void navigator.serviceWorker.register("/service-worker.js");
}
