/** What the console's frame, its signing in, overview, alarms, incidents, log and sessions say, in Russian by the English. */
export const shell = {};
