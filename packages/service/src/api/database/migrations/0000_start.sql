CREATE TABLE "audit_entries" (
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"position" bigserial PRIMARY KEY NOT NULL,
	"biz_id" text,
	"user_id" text,
	"data" jsonb NOT NULL,
	"at" bigint NOT NULL,
	"action" text NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text,
	"actor_name" text,
	"actor_token" text,
	"request_id" text,
	"address" text
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "rate_limits" (
	"key" text PRIMARY KEY NOT NULL,
	"points" integer NOT NULL,
	"expire" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "schema_requirements" (
	"migrations" integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE "conflicting_keys" (
	"user_id" text NOT NULL,
	"key_id" text NOT NULL,
	"pub_key" text NOT NULL,
	"offered" bigint NOT NULL,
	"withdrawn" boolean NOT NULL,
	"decided" bigint,
	CONSTRAINT "conflicting_keys_user_id_key_id_pk" PRIMARY KEY("user_id","key_id")
);
--> statement-breakpoint
CREATE TABLE "key_events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"type" text NOT NULL,
	"key_id" text NOT NULL,
	"at" bigint NOT NULL,
	"after_withdrawal" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "possession_challenges" (
	"nonce" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"pub_key" text NOT NULL,
	"response_hash" text NOT NULL,
	"expires" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "public_keys" (
	"user_id" text PRIMARY KEY NOT NULL,
	"region" text NOT NULL,
	"pub_key" text NOT NULL,
	"key_id" text NOT NULL,
	"registered" bigint NOT NULL,
	"possession" text DEFAULT 'unproven' NOT NULL,
	"hold_ends_at" bigint DEFAULT 0 NOT NULL,
	"undecided_since" bigint,
	"submitted" bigint,
	"root" text,
	"biz_id" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "partners" (
	"biz_id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created" bigint NOT NULL,
	"request_hash" text,
	"request_digest" text,
	"user_limit" integer,
	CONSTRAINT "partners_request_hash_unique" UNIQUE("request_hash")
);
--> statement-breakpoint
CREATE TABLE "suspensions" (
	"biz_id" text PRIMARY KEY NOT NULL,
	"since" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "attempts" (
	"id" serial PRIMARY KEY NOT NULL,
	"region" text NOT NULL,
	"attempt" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "batch_shares" (
	"root" text NOT NULL,
	"biz_id" text NOT NULL,
	"region" text NOT NULL,
	"users" integer NOT NULL,
	CONSTRAINT "batch_shares_root_biz_id_region_pk" PRIMARY KEY("root","biz_id","region")
);
--> statement-breakpoint
CREATE TABLE "batches" (
	"root" text PRIMARY KEY NOT NULL,
	"created" bigint NOT NULL,
	"transaction_hash" text,
	"block_number" bigint,
	"block_hash" text,
	"confirmed" bigint,
	"checked" bigint,
	"difference" text,
	"gas_used" bigint,
	"cost" numeric(40, 0),
	"added_count" integer
);
--> statement-breakpoint
CREATE TABLE "plans" (
	"region" text PRIMARY KEY NOT NULL,
	"plan" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "published_days" (
	"biz_id" text NOT NULL,
	"day" bigint NOT NULL,
	"users" bigint NOT NULL,
	"cost" numeric(40, 0) NOT NULL,
	"unpriced" bigint NOT NULL,
	CONSTRAINT "published_days_biz_id_day_pk" PRIMARY KEY("biz_id","day")
);
--> statement-breakpoint
CREATE TABLE "publisher_leases" (
	"name" text PRIMARY KEY NOT NULL,
	"holder" uuid NOT NULL,
	"fence" integer NOT NULL,
	"until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "invitations" (
	"person_id" uuid PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"expires" bigint NOT NULL,
	CONSTRAINT "invitations_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "passkey_challenges" (
	"challenge_hash" text PRIMARY KEY NOT NULL,
	"purpose" text NOT NULL,
	"session_hash" text,
	"expires" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"credential_id" text PRIMARY KEY NOT NULL,
	"person_id" uuid NOT NULL,
	"public_key" text NOT NULL,
	"counter" bigint NOT NULL,
	"transports" text NOT NULL,
	"created" bigint NOT NULL,
	"last_used" bigint,
	"name" text
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"session_hash" text PRIMARY KEY NOT NULL,
	"person_id" uuid NOT NULL,
	"created" bigint NOT NULL,
	"last_used" bigint NOT NULL,
	"verified" bigint
);
--> statement-breakpoint
CREATE TABLE "staff" (
	"person_id" uuid PRIMARY KEY NOT NULL,
	"biz_id" text,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"created" bigint NOT NULL,
	"last_sign_in" bigint,
	"removed" bigint
);
--> statement-breakpoint
CREATE TABLE "server_tokens" (
	"token_id" uuid PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"created" bigint NOT NULL,
	"revoked" bigint,
	"last_used" bigint,
	"request_hash" text,
	"request_digest" text,
	"sealed_token" text,
	"biz_id" text NOT NULL,
	"name" text,
	CONSTRAINT "server_tokens_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "server_tokens_request_hash_unique" UNIQUE("request_hash")
);
--> statement-breakpoint
CREATE TABLE "user_tokens" (
	"token_id" uuid PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"created" bigint NOT NULL,
	"revoked" bigint,
	"last_used" bigint,
	"request_hash" text,
	"request_digest" text,
	"sealed_token" text,
	"user_id" text NOT NULL,
	"context" text NOT NULL,
	CONSTRAINT "user_tokens_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "user_tokens_request_hash_unique" UNIQUE("request_hash")
);
--> statement-breakpoint
CREATE TABLE "user_counts" (
	"biz_id" text NOT NULL,
	"shard" integer NOT NULL,
	"users" bigint NOT NULL,
	CONSTRAINT "user_counts_biz_id_shard_pk" PRIMARY KEY("biz_id","shard")
);
--> statement-breakpoint
CREATE TABLE "user_ids" (
	"user_id" text PRIMARY KEY NOT NULL,
	"biz_id" text NOT NULL,
	"region" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"user_id" text PRIMARY KEY NOT NULL,
	"biz_id" text NOT NULL,
	"region" text NOT NULL,
	"bucket" text NOT NULL,
	"salt" text NOT NULL,
	"created" bigint NOT NULL,
	"deactivated" bigint,
	"erased" bigint,
	CONSTRAINT "users_bucket_unique" UNIQUE("bucket")
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"position" bigserial PRIMARY KEY NOT NULL,
	"biz_id" text NOT NULL,
	"user_id" text,
	"data" jsonb NOT NULL,
	"at" bigint NOT NULL,
	"xid" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"type" text NOT NULL,
	"dispatched" bigint
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"position" bigint NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"event_id" uuid NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"created" bigint NOT NULL,
	"due" bigint NOT NULL,
	"claim" integer DEFAULT 0 NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"first_attempt" bigint,
	"last_attempt" bigint,
	"status" integer,
	"error" text,
	CONSTRAINT "webhook_deliveries_position_endpoint_id_pk" PRIMARY KEY("position","endpoint_id")
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoints" (
	"endpoint_id" uuid PRIMARY KEY NOT NULL,
	"biz_id" text NOT NULL,
	"url" text NOT NULL,
	"types" text[],
	"created" bigint NOT NULL,
	"paused" bigint
);
--> statement-breakpoint
CREATE TABLE "webhook_secrets" (
	"secret_id" uuid PRIMARY KEY NOT NULL,
	"endpoint_id" uuid NOT NULL,
	"key_id" text NOT NULL,
	"sealed" text NOT NULL,
	"created" bigint NOT NULL,
	"until" bigint,
	"request_hash" text,
	"request_digest" text,
	CONSTRAINT "webhook_secrets_request_hash_unique" UNIQUE("request_hash")
);
--> statement-breakpoint
ALTER TABLE "conflicting_keys" ADD CONSTRAINT "conflicting_keys_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "key_events" ADD CONSTRAINT "key_events_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "possession_challenges" ADD CONSTRAINT "possession_challenges_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "public_keys" ADD CONSTRAINT "public_keys_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "public_keys" ADD CONSTRAINT "public_keys_root_batches_root_fk" FOREIGN KEY ("root") REFERENCES "public"."batches"("root") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "batch_shares" ADD CONSTRAINT "batch_shares_root_batches_root_fk" FOREIGN KEY ("root") REFERENCES "public"."batches"("root") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_person_id_staff_person_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."staff"("person_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_person_id_staff_person_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."staff"("person_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_person_id_staff_person_id_fk" FOREIGN KEY ("person_id") REFERENCES "public"."staff"("person_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "staff" ADD CONSTRAINT "staff_biz_id_partners_biz_id_fk" FOREIGN KEY ("biz_id") REFERENCES "public"."partners"("biz_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_tokens" ADD CONSTRAINT "server_tokens_biz_id_partners_biz_id_fk" FOREIGN KEY ("biz_id") REFERENCES "public"."partners"("biz_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_tokens" ADD CONSTRAINT "user_tokens_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_position_events_position_fk" FOREIGN KEY ("position") REFERENCES "public"."events"("position") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_biz_id_partners_biz_id_fk" FOREIGN KEY ("biz_id") REFERENCES "public"."partners"("biz_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_secrets" ADD CONSTRAINT "webhook_secrets_endpoint_id_webhook_endpoints_endpoint_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "public"."webhook_endpoints"("endpoint_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "audit_entries_by_time" ON "audit_entries" USING btree ("at","position");--> statement-breakpoint
CREATE INDEX "audit_entries_of_partner" ON "audit_entries" USING btree ("biz_id","at","position");--> statement-breakpoint
CREATE INDEX "audit_entries_of_user" ON "audit_entries" USING btree ("user_id","at","position");--> statement-breakpoint
CREATE INDEX "key_events_of_user" ON "key_events" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "possession_challenges_of_user" ON "possession_challenges" USING btree ("user_id","expires");--> statement-breakpoint
CREATE INDEX "public_keys_by_root" ON "public_keys" USING btree ("root");--> statement-breakpoint
CREATE INDEX "pending_public_keys" ON "public_keys" USING btree ("biz_id","user_id") WHERE "public_keys"."root" is null;--> statement-breakpoint
CREATE INDEX "pending_keys_by_time" ON "public_keys" USING btree ("biz_id","hold_ends_at") WHERE "public_keys"."root" is null;--> statement-breakpoint
CREATE INDEX "publishable_keys" ON "public_keys" USING btree ("hold_ends_at","region") WHERE "public_keys"."root" is null;--> statement-breakpoint
CREATE INDEX "batch_shares_of_partner" ON "batch_shares" USING btree ("biz_id");--> statement-breakpoint
CREATE INDEX "batches_by_block" ON "batches" USING btree ("block_number");--> statement-breakpoint
CREATE INDEX "batches_by_check" ON "batches" USING btree ("checked") WHERE "batches"."block_number" is not null;--> statement-breakpoint
CREATE INDEX "batches_with_difference" ON "batches" USING btree ("root") WHERE "batches"."difference" is not null;--> statement-breakpoint
CREATE INDEX "batches_by_time" ON "batches" USING btree ("created","root");--> statement-breakpoint
CREATE INDEX "passkeys_of_person" ON "passkeys" USING btree ("person_id");--> statement-breakpoint
CREATE INDEX "sessions_of_person" ON "sessions" USING btree ("person_id");--> statement-breakpoint
CREATE UNIQUE INDEX "staff_of_partner" ON "staff" USING btree ("biz_id","name") WHERE "staff"."removed" is null;--> statement-breakpoint
CREATE INDEX "server_tokens_of_partner" ON "server_tokens" USING btree ("biz_id","created","token_id");--> statement-breakpoint
CREATE INDEX "active_server_tokens" ON "server_tokens" USING btree ("biz_id") WHERE "server_tokens"."revoked" is null;--> statement-breakpoint
CREATE INDEX "user_tokens_of_user" ON "user_tokens" USING btree ("user_id","created","token_id");--> statement-breakpoint
CREATE INDEX "active_user_tokens" ON "user_tokens" USING btree ("user_id") WHERE "user_tokens"."revoked" is null;--> statement-breakpoint
CREATE INDEX "sealed_user_tokens" ON "user_tokens" USING btree ("created") WHERE "user_tokens"."sealed_token" is not null;--> statement-breakpoint
CREATE INDEX "user_ids_of_partner" ON "user_ids" USING btree ("biz_id","user_id");--> statement-breakpoint
CREATE INDEX "events_of_partner" ON "events" USING btree ("biz_id","xid","position");--> statement-breakpoint
CREATE INDEX "events_to_dispatch" ON "events" USING btree ("position") WHERE "events"."dispatched" is null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("endpoint_id","due") WHERE "webhook_deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_of_event" ON "webhook_deliveries" USING btree ("endpoint_id","event_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_of_endpoint" ON "webhook_deliveries" USING btree ("endpoint_id","created","event_id");--> statement-breakpoint
CREATE INDEX "webhook_endpoints_of_partner" ON "webhook_endpoints" USING btree ("biz_id","created","endpoint_id");--> statement-breakpoint
CREATE INDEX "webhook_secrets_of_endpoint" ON "webhook_secrets" USING btree ("endpoint_id","created");--> statement-breakpoint
-- Leaves room for new versions of rows whose last_used changes. They then need no new index entries.
ALTER TABLE "server_tokens" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "user_tokens" SET (fillfactor = 80);--> statement-breakpoint
-- Maintains user_counts: once per statement, in its transaction.
CREATE FUNCTION "count_user_ids"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	random_shard integer := floor(random() * 8);
BEGIN
	INSERT INTO "user_counts" ("biz_id", "shard", "users")
	SELECT "biz_id", random_shard, count(*) FROM "inserted" GROUP BY "biz_id" ORDER BY "biz_id"
	ON CONFLICT ("biz_id", "shard") DO UPDATE SET "users" = "user_counts"."users" + excluded."users";
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "count_user_ids" AFTER INSERT ON "user_ids" REFERENCING NEW TABLE AS "inserted" FOR EACH STATEMENT EXECUTE FUNCTION "count_user_ids"();--> statement-breakpoint
-- The audit log is append-only. Only a transaction with this setting deletes entries: those whose retention is over.
CREATE FUNCTION "keep_audit_entries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'DELETE' AND current_setting('keyroot.audit_retention', true) = 'on' THEN
		RETURN NULL;
	END IF;
	RAISE EXCEPTION 'The audit log is append-only.' USING ERRCODE = 'restrict_violation';
END
$$;--> statement-breakpoint
CREATE TRIGGER "keep_audit_entries" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_entries" FOR EACH STATEMENT EXECUTE FUNCTION "keep_audit_entries"();--> statement-breakpoint
-- The beginning of the day on which a batch was published.
CREATE FUNCTION "published_day"("batch" "batches") RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce("batch"."confirmed", "batch"."created") / 86400000 * 86400000
$$;--> statement-breakpoint
-- The cost share of some users in a batch, in proportion. More users may have the root than this transaction added.
CREATE FUNCTION "published_cost"("batch" "batches", "part" integer) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce(div("batch"."cost" * "part", greatest("batch"."added_count", "part")), 0)
$$;--> statement-breakpoint
-- Triggers maintain published_days. This one moves the shares of a batch that is confirmed, or that a reorganization removed.
CREATE FUNCTION "count_published_batch"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO "published_days" ("biz_id", "day", "users", "cost", "unpriced")
	SELECT "biz_id", "day", sum("sign" * "users"), sum("sign" * "cost"), sum("sign" * "unpriced")
	FROM (
		SELECT "biz_id", published_day(OLD) AS "day", "users", published_cost(OLD, "users") AS "cost",
			CASE WHEN OLD."cost" IS NULL THEN "users" ELSE 0 END AS "unpriced", -1 AS "sign"
		FROM "batch_shares" WHERE "root" = OLD."root" AND OLD."block_number" IS NOT NULL
		UNION ALL
		SELECT "biz_id", published_day(NEW), "users", published_cost(NEW, "users"),
			CASE WHEN NEW."cost" IS NULL THEN "users" ELSE 0 END, 1
		FROM "batch_shares" WHERE "root" = NEW."root" AND NEW."block_number" IS NOT NULL
	) "changes"
	GROUP BY "biz_id", "day" ORDER BY "biz_id", "day"
	ON CONFLICT ("biz_id", "day") DO UPDATE SET "users" = "published_days"."users" + excluded."users",
		"cost" = "published_days"."cost" + excluded."cost", "unpriced" = "published_days"."unpriced" + excluded."unpriced";
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "count_published_batch" AFTER UPDATE ON "batches" FOR EACH ROW WHEN ((OLD."block_number", OLD."confirmed", OLD."cost", OLD."added_count") IS DISTINCT FROM (NEW."block_number", NEW."confirmed", NEW."cost", NEW."added_count")) EXECUTE FUNCTION "count_published_batch"();--> statement-breakpoint
-- Adds or subtracts shares. It locks their batches first, so that a concurrent change of a batch is counted once.
CREATE FUNCTION "count_published_shares"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	sign integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
	PERFORM 1 FROM "batches" WHERE "root" IN (SELECT "root" FROM "changed") ORDER BY "root" FOR NO KEY UPDATE;
	INSERT INTO "published_days" ("biz_id", "day", "users", "cost", "unpriced")
	SELECT "changed"."biz_id", published_day("batches"), sum(sign * "changed"."users"),
		sum(sign * published_cost("batches", "changed"."users")),
		sum(CASE WHEN "batches"."cost" IS NULL THEN sign * "changed"."users" ELSE 0 END)
	FROM "changed" JOIN "batches" USING ("root") WHERE "batches"."block_number" IS NOT NULL
	GROUP BY 1, 2 ORDER BY 1, 2
	ON CONFLICT ("biz_id", "day") DO UPDATE SET "users" = "published_days"."users" + excluded."users",
		"cost" = "published_days"."cost" + excluded."cost", "unpriced" = "published_days"."unpriced" + excluded."unpriced";
	RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "count_published_shares" AFTER INSERT ON "batch_shares" REFERENCING NEW TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_published_shares"();--> statement-breakpoint
CREATE TRIGGER "uncount_published_shares" AFTER DELETE ON "batch_shares" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_published_shares"();
