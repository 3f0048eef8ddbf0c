import type { Category, Product } from "campus-client";
import { useLocation } from "preact-iso";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { Art } from "../parts/art.tsx";
import { Icon, isIcon } from "../parts/icon.tsx";
import { Items } from "../parts/items.tsx";
import { Empty } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Rating } from "../parts/rating.tsx";
import { loadSession, profile, sessionError } from "../session.ts";
import { useList } from "../use-list.ts";
import { useResource } from "../use-resource.ts";

const PAGE_SIZE = 20;

export const CONDITIONS: Record<Product["condition"], string> = {
  new: "New",
  like_new: "Like new",
  good: "Good",
  fair: "Fair",
};
type Condition = keyof typeof CONDITIONS | "";

/** Products by search words and category. Both are in the address, so that a search can be shared. */
export function Browse() {
  const { query } = useLocation();
  const words = query["q"] ?? "";
  const category = query["category"] ?? "";
  const asked = query["condition"] ?? "";
  const condition: Condition = asked in CONDITIONS ? (asked as Condition) : "";
  const filter = { words, category, condition };
  const isSearch = words !== "" || category !== "" || condition !== "";
  return (
    <Page title={isSearch ? "Products" : "Buy from students on campus"} hero={!isSearch && <Welcome />}>
      {isSearch && <Search {...filter} />}
      <Categories {...filter} />
      <Conditions {...filter} />
      {/* A student sees the products of the own campus, so who it is comes first. */}
      {profile.value === undefined ? (
        <Problem error={sessionError.value} retry={() => void loadSession()} />
      ) : (
        <Products key={address(filter)} {...filter} campusId={profile.value?.campusId} />
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
      <Search words="" category="" condition="" />
    </>
  );
}

function Search(filter: Filter) {
  const { words } = filter;
  const { route } = useLocation();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget as HTMLFormElement).get("q") ?? "").trim();
    route(address({ ...filter, words: typed }));
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

interface Filter {
  words: string;
  category: string;
  condition: Condition;
}

function address({ words, category, condition }: Filter): string {
  const query = new URLSearchParams({
    ...(words && { q: words }),
    ...(category && { category }),
    ...(condition && { condition }),
  });
  return query.size ? `/?${query}` : "/";
}

function Categories(filter: Filter) {
  const chosen = filter.category;
  const categories = useResource<Category[]>((signal) => campus.categories.list({ signal }), []);
  return (
    <nav class="categories" aria-label="Categories">
      <a href={address({ ...filter, category: "" })} aria-current={chosen === "" ? "true" : undefined}>
        All
      </a>
      {categories.data?.filter(({ category }) => isIcon(category) || category === chosen).map(({ category }) => (
        <a
          key={category}
          href={address({ ...filter, category })}
          aria-current={category === chosen ? "true" : undefined}
        >
          {isIcon(category) && <Icon name={category} />}
          {category.replaceAll("-", " ")}
        </a>
      ))}
    </nav>
  );
}

function Conditions(filter: Filter) {
  const { route } = useLocation();
  return (
    <label class="filter">
      Condition
      <select
        value={filter.condition}
        onChange={(event) => route(address({ ...filter, condition: event.currentTarget.value as Condition }))}
      >
        <option value="">Any</option>
        {Object.entries(CONDITIONS).map(([condition, text]) => (
          <option key={condition} value={condition}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function Products({ words, category, condition, campusId }: Filter & { campusId?: string | null | undefined }) {
  const products = useList(
    (signal) =>
      campus.products.list(
        {
          limit: PAGE_SIZE,
          ...(words && { q: words, sort: "relevance" }),
          ...(category && { category }),
          ...(condition && { condition }),
          ...(campusId && { campusId }),
        },
        { signal },
      ),
    [words, category, condition, campusId],
  );
  return (
    <Items
      of={products}
      style="grid"
      empty={
        <Empty title={words ? `Nothing found for “${words}”` : "Nothing for sale here yet"}>
          <p>Try another word or category.</p>
          <a class="button" href="/">
            See all products
          </a>
        </Empty>
      }
    >
      {(product) => <Card key={product.id} product={product} />}
    </Items>
  );
}

export function Card({ product }: { product: Product }) {
  return (
    <li class={`card ${product.inStock ? "" : "sold-out"}`}>
      <Art product={product} />
      <div class="card-text">
        <a class="name" href={`/products/${product.id}`}>
          {product.name}
        </a>
        <Price product={product} from={product.options.length > 0} />
        <span class="soft">
          {product.vendorName}
          {product.condition !== "new" && ` · ${CONDITIONS[product.condition]}`}
        </span>
        <Rating rating={product.rating} count={product.ratingCount} />
      </div>
      {product.inStock && product.vendorAway && <span class="flag">Away</span>}
      {!product.inStock && <span class="flag">Sold out</span>}
      {product.inStock && !product.vendorAway && product.flashSale && <span class="flag flag-sale">Flash sale</span>}
    </li>
  );
}

interface PriceProps {
  product: Pick<Product, "priceMinor" | "flashSale">;
  /** Whether it is the lowest of several. */
  from?: boolean;
}

/** The price to pay now; during a flash sale with the regular one beside it. */
export function Price({ product: { priceMinor, flashSale }, from = false }: PriceProps) {
  return (
    <span class="price">
      {from && <span class="soft">from </span>}
      {naira(flashSale?.priceMinor ?? priceMinor)}
      {flashSale && <s class="soft"> {naira(priceMinor)}</s>}
    </span>
  );
}
