import type { Vendor } from "campus-client";

const DAYS = {
  mon: "Monday",
  tue: "Tuesday",
  wed: "Wednesday",
  thu: "Thursday",
  fri: "Friday",
  sat: "Saturday",
  sun: "Sunday",
};

/** The hours of a shop or hub; nothing where none are given. */
export function OpeningHours({ periods }: { periods: Vendor["openingHours"] }) {
  if (periods.length === 0) return null;
  return (
    <>
      <h2>Opening hours</h2>
      <ul>
        {periods.map(({ day, from, to }) => (
          <li key={`${day} ${from}`}>
            {DAYS[day]}, {from} to {to}
          </li>
        ))}
      </ul>
    </>
  );
}
