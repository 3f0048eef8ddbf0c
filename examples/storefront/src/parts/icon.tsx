/** Drawn for this example, 24 by 24, as lines. */
const PATHS = {
  shop: "M4 10v9h16v-9M3 10l2-6h14l2 6a3 3 0 0 1-6 0 3 3 0 0 1-6 0 3 3 0 0 1-6 0M10 19v-5h4v5",
  cart: "M3 4h2l2.5 11h10L20 7H6M9 19.500a1 1 0 1 0 .01 0M16 19.500a1 1 0 1 0 .01 0",
  parcel: "M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8M8 6l8 4",
  person: "M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8M4 20c1-4 4-5 8-5s7 1 8 5",
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14M16 16l5 5",
  star: "M12 3l2.700 5.800 6.300.8-4.600 4.400 1.200 6.300L12 17.200 6.400 20.300l1.200-6.300L3 9.600l6.300-.8z",
  lock: "M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3M12 14.500v2",
  check: "M5 12.500l4.500 4.500L19 7.500",
  meals: "M3 12h18a9 9 0 0 1-6 8H9a9 9 0 0 1-6-8M8 9c0-2 2-2 2-4M13 9c0-2 2-2 2-4",
  snacks: "M3 15c0-6 4-9 9-9s9 3 9 9zM3 18h18M8 11l1 1M12 9.500l1 1M16 11.500l-1 1",
  drinks: "M6 8h12l-1.500 12h-9zM7 13h10M13 8l2-5h3",
  groceries: "M5 9h14l-1.500 11h-11zM8 9c0-6 8-6 8 0M9.500 13v3M14.500 13v3",
  "phone-accessories": "M8 3h8v18H8zM11 18h2M18 8c2 1 2 7 0 8M6 8c-2 1-2 7 0 8",
  power: "M4 7h13v10H4zM17 10h3v4h-3M11 8l-3 4.500h4L9.500 16",
  audio: "M4 15v-3a8 8 0 0 1 16 0v3M4 14h3v6H4zM17 14h3v6h-3z",
  computing: "M5 5h14v10H5zM2 19h20M9 15v4M15 15v4",
  stationery: "M5 3h11v18H5zM8 3v18M19 5v11l-1 3-1-3V5z",
  hostel: "M3 18v-8M3 14h18v4M21 14c0-3-2-4-5-4h-5v4M5 11a1.500 1.500 0 1 0 3 0 1.500 1.500 0 0 0-3 0",
  other: "M5 9h14v11H5zM9 9c0-6 6-6 6 0",
} as const;

export type IconName = keyof typeof PATHS;

export function isIcon(name: string): name is IconName {
  return name in PATHS;
}

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
