import type { Product, ProductVariant } from "campus-client";
import { useId } from "preact/hooks";

/** The variant with this id; without it the first one in stock. Null for a product without variants. */
export function variantOf(product: Product, id: string | undefined): ProductVariant | null {
  const sold = product.variants?.filter((variant) => variant.active) ?? [];
  return sold.find((variant) => variant.id === id) ?? sold.find((variant) => variant.stock > 0) ?? sold[0] ?? null;
}

/**
 * A group of radio buttons for each option. A value is disabled when no variant in stock has it beside the values of
 * the options before it, so each available combination can be reached from any other.
 */
export function VariantChoice({
  product,
  chosen,
  choose,
}: {
  product: Product;
  chosen: ProductVariant;
  choose: (variant: ProductVariant) => void;
}) {
  const id = useId();
  const available = product.variants?.filter((variant) => variant.active && variant.stock > 0) ?? [];
  const names = product.options.map(({ name }) => name);
  const shared = (variant: ProductVariant, options: string[]) =>
    options.filter((name) => variant.values[name] === chosen.values[name]).length;
  const variantWith = (position: number, value: string) =>
    available
      .filter((variant) => variant.values[names[position]!] === value)
      .filter((variant) => shared(variant, names.slice(0, position)) === position)
      .sort((a, b) => shared(b, names) - shared(a, names))[0];
  return (
    <>
      {product.options.map(({ name, values }, position) => (
        <fieldset class="option" key={name}>
          <legend>{name}</legend>
          {values.map((value) => {
            const variant = variantWith(position, value);
            return (
              <label class="value" key={value}>
                <input
                  type="radio"
                  name={`${id}-${position}`}
                  checked={chosen.values[name] === value}
                  disabled={variant === undefined}
                  onChange={() => variant && choose(variant)}
                />
                {value}
                {variant === undefined && <span class="visually-hidden"> (not available)</span>}
              </label>
            );
          })}
        </fieldset>
      ))}
    </>
  );
}
