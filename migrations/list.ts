import type { Knex } from "knex";
import * as createSchema from "#migrations/0001_create_schema.ts";
import * as createChangeFeed from "#migrations/0002_create_change_feed.ts";
import * as createMarkPartitions from "#migrations/0003_create_mark_partitions.ts";
import * as lockStations from "#migrations/0004_lock_stations.ts";
import * as createSessions from "#migrations/0006_create_sessions.ts";
import * as createOperators from "#migrations/0007_create_operators.ts";
import * as indexMarksByKey from "#migrations/0008_index_marks_by_key.ts";
import * as createImports from "#migrations/0009_create_imports.ts";
import * as sendStatementsTogether from "#migrations/0010_send_statements_together.ts";
import * as judgeMarksByNetwork from "#migrations/0011_judge_marks_by_network.ts";
import * as createStatusRuns from "#migrations/0012_create_status_runs.ts";
import * as createAlarms from "#migrations/0013_create_alarms.ts";
import * as createReviewChanges from "#migrations/0014_create_review_changes.ts";
import * as setLaunchLimits from "#migrations/0015_set_launch_limits.ts";
import * as blockReporters from "#migrations/0016_block_reporters.ts";
import * as hardenSignIns from "#migrations/0017_harden_sign_ins.ts";
import * as listOpenDays from "#migrations/0018_list_open_days.ts";
import * as listClearedDays from "#migrations/0019_list_cleared_days.ts";
import * as createWebhooks from "#migrations/0020_create_webhooks.ts";
import * as createMarkBatches from "#migrations/0021_create_mark_batches.ts";
import * as storeDatabaseIdentity from "#migrations/0022_store_database_identity.ts";
import * as splitUsage from "#migrations/0023_split_usage.ts";
import * as createStationEdits from "#migrations/0024_create_station_edits.ts";
import * as keepLimitsBeforeDecisions from "#migrations/0025_keep_limits_before_decisions.ts";
import * as createFuelAlerts from "#migrations/0026_create_fuel_alerts.ts";
import * as createInsightDays from "#migrations/0027_create_insight_days.ts";
import * as createServiceDays from "#migrations/0028_create_service_days.ts";
import * as takeOwnMarksBack from "#migrations/0029_take_own_marks_back.ts";
import * as createInsightGrades from "#migrations/0030_create_insight_grades.ts";
import * as boundRefolds from "#migrations/0031_bound_refolds.ts";
import * as storePriceNeeds from "#migrations/0032_store_price_needs.ts";
import * as fenceTime from "#migrations/0033_fence_time.ts";
import * as keepDatabaseTokens from "#migrations/0034_keep_database_tokens.ts";
import * as createRetentionSteps from "#migrations/0037_create_retention_steps.ts";
import * as createBrandAliases from "#migrations/0038_create_brand_aliases.ts";
import * as storeHoursAndGrades from "#migrations/0039_store_hours_and_grades.ts";
import * as createFeeds from "#migrations/0040_create_feeds.ts";
import * as storeAlarmSubjects from "#migrations/0041_store_alarm_subjects.ts";
import * as keepRefusedRows from "#migrations/0042_keep_refused_rows.ts";
import * as createStationPairs from "#migrations/0043_create_station_pairs.ts";
import * as storeChances from "#migrations/0044_store_chances.ts";
import * as createSourceCredits from "#migrations/0045_create_source_credits.ts";
import * as countRefusedHours from "#migrations/0046_count_refused_hours.ts";
import * as letLimitRequestsBeWithdrawn from "#migrations/0047_let_limit_requests_be_withdrawn.ts";
import * as followChances from "#migrations/0048_follow_chances.ts";
import * as createFieldSources from "#migrations/0049_create_field_sources.ts";
import * as letSessionsBeLinks from "#migrations/0050_let_sessions_be_links.ts";
import * as findStationsByLatitude from "#migrations/0051_find_stations_by_latitude.ts";
import * as indexStatusUpdates from "#migrations/0052_index_status_updates.ts";
import * as createStationSuggestions from "#migrations/0053_create_station_suggestions.ts";
import * as learnRates from "#migrations/0054_learn_rates.ts";
import * as probeStationsToLock from "#migrations/0055_probe_stations_to_lock.ts";
import * as keepMarksByMonth from "#migrations/0056_keep_marks_by_month.ts";
import * as dropStationCheck from "#migrations/0057_drop_station_check.ts";
import * as vacuumTablesEarly from "#migrations/0058_vacuum_tables_early.ts";
import * as letPartsLeaveTheirSource from "#migrations/0059_let_parts_leave_their_source.ts";
import * as countFailedSignInsForAllUsers from "#migrations/0060_count_failed_sign_ins_for_all_users.ts";
import * as createSourceIds from "#migrations/0061_create_source_ids.ts";
import * as storeClosures from "#migrations/0062_store_closures.ts";
import * as storeUndos from "#migrations/0063_store_undos.ts";
import * as emptyUnreadableHours from "#migrations/0064_empty_unreadable_hours.ts";

/**
 * Every migration under the name that databases record: the file's, without its extension. A list instead of a look
 * into the folder, because the bundle has no folder; a test compares the two.
 */
export const migrations: Readonly<Record<string, Knex.Migration>> = {
  "0001_create_schema": createSchema,
  "0002_create_change_feed": createChangeFeed,
  "0003_create_mark_partitions": createMarkPartitions,
  "0004_lock_stations": lockStations,
  "0006_create_sessions": createSessions,
  "0007_create_operators": createOperators,
  "0008_index_marks_by_key": indexMarksByKey,
  "0009_create_imports": createImports,
  "0010_send_statements_together": sendStatementsTogether,
  "0011_judge_marks_by_network": judgeMarksByNetwork,
  "0012_create_status_runs": createStatusRuns,
  "0013_create_alarms": createAlarms,
  "0014_create_review_changes": createReviewChanges,
  "0015_set_launch_limits": setLaunchLimits,
  "0016_block_reporters": blockReporters,
  "0017_harden_sign_ins": hardenSignIns,
  "0018_list_open_days": listOpenDays,
  "0019_list_cleared_days": listClearedDays,
  "0020_create_webhooks": createWebhooks,
  "0021_create_mark_batches": createMarkBatches,
  "0022_store_database_identity": storeDatabaseIdentity,
  "0023_split_usage": splitUsage,
  "0024_create_station_edits": createStationEdits,
  "0025_keep_limits_before_decisions": keepLimitsBeforeDecisions,
  "0026_create_fuel_alerts": createFuelAlerts,
  "0027_create_insight_days": createInsightDays,
  "0028_create_service_days": createServiceDays,
  "0029_take_own_marks_back": takeOwnMarksBack,
  "0030_create_insight_grades": createInsightGrades,
  "0031_bound_refolds": boundRefolds,
  "0032_store_price_needs": storePriceNeeds,
  "0033_fence_time": fenceTime,
  "0034_keep_database_tokens": keepDatabaseTokens,
  "0037_create_retention_steps": createRetentionSteps,
  "0038_create_brand_aliases": createBrandAliases,
  "0039_store_hours_and_grades": storeHoursAndGrades,
  "0040_create_feeds": createFeeds,
  "0041_store_alarm_subjects": storeAlarmSubjects,
  "0042_keep_refused_rows": keepRefusedRows,
  "0043_create_station_pairs": createStationPairs,
  "0044_store_chances": storeChances,
  "0045_create_source_credits": createSourceCredits,
  "0046_count_refused_hours": countRefusedHours,
  "0047_let_limit_requests_be_withdrawn": letLimitRequestsBeWithdrawn,
  "0048_follow_chances": followChances,
  "0049_create_field_sources": createFieldSources,
  "0050_let_sessions_be_links": letSessionsBeLinks,
  "0051_find_stations_by_latitude": findStationsByLatitude,
  "0052_index_status_updates": indexStatusUpdates,
  "0053_create_station_suggestions": createStationSuggestions,
  "0054_learn_rates": learnRates,
  "0055_probe_stations_to_lock": probeStationsToLock,
  "0056_keep_marks_by_month": keepMarksByMonth,
  "0057_drop_station_check": dropStationCheck,
  "0058_vacuum_tables_early": vacuumTablesEarly,
  "0059_let_parts_leave_their_source": letPartsLeaveTheirSource,
  "0060_count_failed_sign_ins_for_all_users": countFailedSignInsForAllUsers,
  "0061_create_source_ids": createSourceIds,
  "0062_store_closures": storeClosures,
  "0063_store_undos": storeUndos,
  "0064_empty_unreadable_hours": emptyUnreadableHours,
};
