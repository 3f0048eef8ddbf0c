import {
  AuthResource,
  CartsResource,
  CategoriesResource,
  DisputesResource,
  HubsResource,
  NotificationsResource,
  OrdersResource,
  PaymentsResource,
  ProductsResource,
  ProfilesResource,
  RefundsResource,
  ReviewsResource,
  VendorsResource,
  connect,
} from "campus-client";

import { exclusively, tokens } from "./tokens.ts";

export const API_URL: string = import.meta.env.VITE_API_URL ?? "http://localhost:8080";

/** The API with the resources that a buyer needs; the bundle contains no others. */
export const campus = connect(
  { baseUrl: API_URL, exclusively, tokens },
  {
    auth: AuthResource,
    carts: CartsResource,
    categories: CategoriesResource,
    disputes: DisputesResource,
    hubs: HubsResource,
    notifications: NotificationsResource,
    orders: OrdersResource,
    payments: PaymentsResource,
    products: ProductsResource,
    profiles: ProfilesResource,
    refunds: RefundsResource,
    reviews: ReviewsResource,
    vendors: VendorsResource,
  },
);
