import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from "preact-iso";

import { Cart } from "./pages/cart.tsx";
import { Checkout } from "./pages/checkout.tsx";
import { Balance } from "./pages/balance.tsx";
import { Browse } from "./pages/browse.tsx";
import { Conversation } from "./pages/conversation.tsx";
import { Messages } from "./pages/messages.tsx";
import { ForgottenPassword } from "./pages/forgotten-password.tsx";
import { NotFound } from "./pages/not-found.tsx";
import { OrderPage } from "./pages/order.tsx";
import { Orders } from "./pages/orders.tsx";
import { Account } from "./pages/account.tsx";
import { ProductPage } from "./pages/product.tsx";
import { PurchaseDraftPage } from "./pages/purchase-draft.tsx";
import { PurchasePage } from "./pages/purchase.tsx";
import { Saved } from "./pages/saved.tsx";
import { SignIn } from "./pages/sign-in.tsx";
import { SignUp } from "./pages/sign-up.tsx";
import { TicketPage } from "./pages/ticket.tsx";
import { Tickets } from "./pages/tickets.tsx";
import { VendorPage } from "./pages/vendor.tsx";
import { Icon, type IconName } from "./parts/icon.tsx";
import { OfflineNotice } from "./parts/offline.tsx";
import { ThemeChoice } from "./parts/theme.tsx";
import { itemCount, profile } from "./session.ts";

export function Application() {
  return (
    <LocationProvider>
      <ErrorBoundary>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="top">
          <a class="brand" href="/">
            <img src="/icon.svg" alt="" width="32" height="32" />
            Quad
          </a>
          <OfflineNotice />
        </header>
        <Navigation />
        <main id="main">
          <Router>
            <Route path="/" component={Browse} />
            <Route path="/products/:id" component={ProductPage} />
            <Route path="/cart" component={Cart} />
            <Route path="/checkout" component={Checkout} />
            <Route path="/checkout/:vendorId" component={Checkout} />
            <Route path="/orders" component={Orders} />
            <Route path="/orders/:id" component={OrderPage} />
            <Route path="/purchases/:id" component={PurchasePage} />
            <Route path="/purchase-drafts/:id" component={PurchaseDraftPage} />
            <Route path="/vendors/:id" component={VendorPage} />
            <Route path="/saved" component={Saved} />
            <Route path="/balance" component={Balance} />
            <Route path="/messages" component={Messages} />
            <Route path="/messages/:id" component={Conversation} />
            <Route path="/tickets" component={Tickets} />
            <Route path="/tickets/:id" component={TicketPage} />
            <Route path="/account" component={Account} />
            <Route path="/sign-in" component={SignIn} />
            <Route path="/sign-up" component={SignUp} />
            <Route path="/forgotten-password" component={ForgottenPassword} />
            <Route default component={NotFound} />
          </Router>
        </main>
        <footer class="foot">
          <p>
            Quad is an example storefront of the Campus Marketplace API. Your payment is held in escrow until you give
            the seller your delivery PIN.
          </p>
          <ThemeChoice />
        </footer>
      </ErrorBoundary>
    </LocationProvider>
  );
}

/** At the bottom of a phone's screen, in the header of a wide one. */
function Navigation() {
  const count = itemCount.value;
  return (
    <nav class="tabs" aria-label="Main">
      <Tab href="/" icon="shop" label="Shop" />
      <Tab href="/cart" icon="cart" label="Cart" badge={count} />
      <Tab href="/orders" icon="parcel" label="Orders" />
      {profile.value === null ? (
        <Tab href="/sign-in" icon="person" label="Sign in" />
      ) : (
        <Tab href="/account" icon="person" label="Account" />
      )}
    </nav>
  );
}

function Tab({ href, icon, label, badge = 0 }: { href: string; icon: IconName; label: string; badge?: number }) {
  const { path } = useLocation();
  const current =
    href === "/"
      ? path === "/" || path.startsWith("/products")
      : path.startsWith(href) ||
        (href === "/orders" && path.startsWith("/purchases")) ||
        (href === "/account" && /^\/(balance|messages|saved|tickets)/.test(path));
  return (
    <a href={href} aria-current={current ? "page" : undefined}>
      <span class="tab-icon">
        <Icon name={icon} />
        {badge > 0 && (
          <span class="badge">
            {badge}
            <span class="visually-hidden"> items</span>
          </span>
        )}
      </span>
      {label}
    </a>
  );
}
