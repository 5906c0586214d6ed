/** What the console's pages of partners, keys, limits, imports and people say, in Russian by the English. */
export const partners = {};
