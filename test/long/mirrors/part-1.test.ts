import { playSeeds } from "#test/long/mirrors/seeds.ts";

playSeeds(1);
