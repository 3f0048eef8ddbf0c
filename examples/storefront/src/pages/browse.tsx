import type { Category, Product } from "campus-client";
import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { Art } from "../parts/art.tsx";
import { Icon, isIcon } from "../parts/icon.tsx";
import { Empty, Loaded } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Rating } from "../parts/rating.tsx";
import { profile } from "../session.ts";
import { useAction, useResource } from "../use-resource.ts";

const PAGE_SIZE = 20;

/** Products by search words and category. Both are in the address, so that a search can be shared. */
export function Browse() {
  const { query } = useLocation();
  const words = query["q"] ?? "";
  const category = query["category"] ?? "";
  const isSearch = words !== "" || category !== "";
  return (
    <Page title={isSearch ? "Products" : "Buy from students on campus"} hero={!isSearch && <Welcome />}>
      {isSearch && <Search words={words} category={category} />}
      <Categories chosen={category} words={words} />
      {/* A student sees the products of the own campus, so who it is comes first. */}
      {profile.value !== undefined && (
        <Products key={`${words} ${category}`} words={words} category={category} campusId={profile.value?.campusId} />
      )}
    </Page>
  );
}

function Welcome() {
  return (
    <>
      <p class="lead">
        <Icon name="lock" />
        Your money is held until the goods are in your hands and you give the seller your PIN.
      </p>
      <Search words="" category="" />
    </>
  );
}

function Search({ words, category }: { words: string; category: string }) {
  const { route } = useLocation();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget as HTMLFormElement).get("q") ?? "").trim();
    route(address(typed, category));
  };
  return (
    <form class="search" role="search" onSubmit={submit}>
      <input
        key={words}
        name="q"
        type="search"
        aria-label="Search products"
        placeholder="Jollof, charger, notebook …"
        defaultValue={words}
        maxLength={100}
        enterKeyHint="search"
      />
      <button aria-label="Search">
        <Icon name="search" />
      </button>
    </form>
  );
}

function address(words: string, category: string): string {
  const query = new URLSearchParams({ ...(words && { q: words }), ...(category && { category }) });
  return query.size ? `/?${query}` : "/";
}

function Categories({ chosen, words }: { chosen: string; words: string }) {
  const categories = useResource<Category[]>((signal) => campus.categories.list({ signal }), []);
  return (
    <nav class="categories" aria-label="Categories">
      <a href={address(words, "")} aria-current={chosen === "" ? "true" : undefined}>
        All
      </a>
      {categories.data?.map(({ category }) => (
        <a key={category} href={address(words, category)} aria-current={category === chosen ? "true" : undefined}>
          {isIcon(category) && <Icon name={category} />}
          {category.replaceAll("-", " ")}
        </a>
      ))}
    </nav>
  );
}

function Products({
  words,
  category,
  campusId,
}: {
  words: string;
  category: string;
  campusId?: string | null | undefined;
}) {
  const first = useResource(
    (signal) =>
      campus.products.list(
        {
          limit: PAGE_SIZE,
          ...(words && { q: words, sort: "relevance" }),
          ...(category && { category }),
          ...(campusId && { campusId }),
        },
        { signal },
      ),
    [words, category, campusId],
  );
  const [more, setMore] = useState<{ items: Product[]; next: typeof first.data }>({ items: [], next: undefined });
  const last = more.next ?? first.data;
  const loadMore = useAction(async () => {
    const next = await last?.next();
    if (next) setMore(({ items }) => ({ items: [...items, ...next.items], next }));
  });
  return (
    <Loaded from={first}>
      {(page) =>
        page.items.length === 0 ? (
          <Empty title={words ? `Nothing found for “${words}”` : "Nothing for sale here yet"}>
            <p>Try another word or category.</p>
            <a class="button" href="/">
              See all products
            </a>
          </Empty>
        ) : (
          <>
            <ul class="grid">
              {[...page.items, ...more.items].map((product) => (
                <Card key={product.id} product={product} />
              ))}
            </ul>
            <Problem error={loadMore.error} />
            {last?.hasNext && (
              <button type="button" class="quiet more" disabled={loadMore.busy} onClick={() => loadMore.run()}>
                Show more
              </button>
            )}
          </>
        )
      }
    </Loaded>
  );
}

function Card({ product }: { product: Product }) {
  return (
    <li class={`card ${product.inStock ? "" : "sold-out"}`}>
      <Art product={product} />
      <div class="card-text">
        <a href={`/products/${product.id}`}>{product.name}</a>
        <Price product={product} />
        <span class="soft">{product.vendorName}</span>
        <Rating rating={product.rating} count={product.ratingCount} />
      </div>
      {!product.inStock && <span class="flag">Sold out</span>}
      {product.inStock && product.flashSale && <span class="flag flag-sale">Flash sale</span>}
    </li>
  );
}

/** The price to pay now; during a flash sale with the regular one beside it. */
export function Price({ product }: { product: Product }) {
  if (!product.flashSale) return <span class="price">{naira(product.priceMinor)}</span>;
  return (
    <span class="price">
      {naira(product.flashSale.priceMinor)} <s class="soft">{naira(product.priceMinor)}</s>
    </span>
  );
}
