/** What the console's pages and maps of stations say, in Russian by the English. */
export const stations = {};
