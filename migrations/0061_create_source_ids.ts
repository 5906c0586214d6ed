import type { Knex } from "knex";

/**
 * Stations whose id is not the one that their source's own id makes, because that one is another station's (decisions
 * 14.43). A new, empty table: which own ids earlier versions have cut is stored nowhere, so the next import finds out
 * whose station it is. Its reference lets no row of `stations` be written for some milliseconds. Processes of the
 * previous version do not know it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table source_ids (
      source text not null,
      -- The id that the source's own id makes.
      plain text not null,
      station_id text not null references stations,
      primary key (plain, source)
    );
    create index source_ids_source on source_ids (source);

    -- The stations, or those that they are parts of, with these own ids at their sources: in one of them, or (null) in
    -- any. An own id is given as it can be in ours, or null, and as its hash. n numbers the asked ones from 1.
    create function stations_by_own_id(sources text[], owns text[], hashes text[])
      returns table (n int, id text, source text, open boolean) language sql stable as $$
      with recursive named (source) as (select min(s.source) from stations s
        union all select (select min(s.source) from stations s where s.source > named.source) from named
        where named.source is not null)
      select distinct a.n::int, coalesce(p.into_id, s.id), named.source, s.removed_at is null or p.into_id is not null
      from unnest(sources, owns, hashes) with ordinality as a (source, own, hash, n)
        join named on named.source = coalesce(a.source, named.source)
        cross join lateral (select named.source || '-' ||
          case when length(named.source || a.own) < 64 then a.own else a.hash end as id) c
        left join source_ids i on i.plain = c.id and i.source = named.source
        join stations s on s.id = coalesce(i.station_id, c.id) and s.source = named.source
        left join station_pairs p on p.station_id = s.id and p.verdict = 'joined'
      order by 1, 3, 2
    $$;
  `);
}

export async function down(): Promise<void> {
  throw new Error("migrations go forward only: restore a backup instead");
}
