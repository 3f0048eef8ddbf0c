import {
  AuthResource,
  BalanceResource,
  BanksResource,
  CartsResource,
  CategoriesResource,
  ConversationsResource,
  DisputesResource,
  FollowedVendorsResource,
  HubsResource,
  NotificationsResource,
  OrdersResource,
  PaymentsResource,
  ProductsResource,
  PurchaseDraftsResource,
  PurchasesResource,
  ProfilesResource,
  RefundsResource,
  ReportsResource,
  ReturnsResource,
  ReviewsResource,
  SavedProductsResource,
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
    balance: BalanceResource,
    banks: BanksResource,
    carts: CartsResource,
    categories: CategoriesResource,
    conversations: ConversationsResource,
    disputes: DisputesResource,
    followedVendors: FollowedVendorsResource,
    hubs: HubsResource,
    notifications: NotificationsResource,
    orders: OrdersResource,
    payments: PaymentsResource,
    products: ProductsResource,
    purchaseDrafts: PurchaseDraftsResource,
    purchases: PurchasesResource,
    profiles: ProfilesResource,
    refunds: RefundsResource,
    reports: ReportsResource,
    returns: ReturnsResource,
    reviews: ReviewsResource,
    savedProducts: SavedProductsResource,
    vendors: VendorsResource,
  },
);
