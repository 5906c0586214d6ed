import type { Knex } from "knex";

/**
 * Who must be named for a source's stations (decisions 14.41). A new table, filled from what was imported before: objects
 * of OpenStreetMap are known by their ids, registers by their names. It reads `stations` once and locks nobody.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table source_credits (
      source text primary key,
      credit text not null
    );
    insert into source_credits
      select distinct source, '© OpenStreetMap contributors' from stations where id ~ '^[nwr][0-9]+$' and source <> 'demo'
      union values
        ('de-tankerkoenig', 'Tankerkönig, MTS-K'),
        ('es-geoportal', 'Ministerio para la Transición Ecológica, geoportalgasolineras.es'),
        ('fr', 'Ministère de l''Économie, prix-carburants.gouv.fr'),
        ('gb-fuel-finder', 'Fuel Finder, gov.uk'),
        ('it-mimit', 'Ministero delle Imprese e del Made in Italy'),
        ('pt-dgeg', 'DGEG, precoscombustiveis.dgeg.gov.pt');
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
