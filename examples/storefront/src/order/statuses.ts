import type { Order } from "campus-client";

interface StatusText {
  /** In a list. */
  label: string;
  /** What it means for the buyer, and what to do next. */
  meaning: string;
  tone: "waiting" | "active" | "good" | "bad";
  /** The step of the four of an ordinary purchase; null outside of it. */
  step: number | null;
}

export const STEPS = ["Placed", "Paid", "Sent", "Delivered"] as const;

export const STATUS: Record<Order["status"], StatusText> = {
  Processing: {
    label: "Waiting for payment",
    meaning: "Your items are reserved. Pay to complete the order.",
    tone: "waiting",
    step: 0,
  },
  paid_escrow: {
    label: "Paid",
    meaning: "The money is held in escrow. The seller prepares your order.",
    tone: "active",
    step: 1,
  },
  dispatched: {
    label: "On its way",
    meaning: "The seller has handed it over. Give your PIN when you have it.",
    tone: "active",
    step: 2,
  },
  delivered: { label: "Delivered", meaning: "Your PIN was accepted. Enjoy!", tone: "good", step: 3 },
  paid: { label: "Delivered", meaning: "Your PIN was accepted. Enjoy!", tone: "good", step: 3 },
  expired: {
    label: "Expired",
    meaning: "The 15 minutes for the payment are over. Nothing was charged.",
    tone: "bad",
    step: null,
  },
  cancelled: { label: "Cancelled", meaning: "The order was cancelled before the payment.", tone: "bad", step: null },
  disputed: {
    label: "In dispute",
    meaning: "The money is frozen until our staff decide. You hear from us here.",
    tone: "waiting",
    step: null,
  },
  refund_pending: {
    label: "Refund under way",
    meaning: "Your money is on its way back to you.",
    tone: "waiting",
    step: null,
  },
  refunded: { label: "Refunded", meaning: "Your money is back.", tone: "good", step: null },
};
