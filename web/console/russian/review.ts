/** What the console's review and rollback say, in Russian by the English. */
export const review = {};
