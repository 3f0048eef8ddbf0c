import { Page } from "../parts/page.tsx";

export function NotFound() {
  return (
    <Page title="There is no such page">
      <p>The link may be old.</p>
      <a class="button" href="/">
        Back to the shop
      </a>
    </Page>
  );
}
