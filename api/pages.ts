import type { Page } from "#api/app.ts";
import type { Services } from "#api/services.ts";

/** What is served outside the API, without a key and unmetered: plain Koa middleware, asked in this order. */
export const createPages = (_services: Services): Page[] => [];
