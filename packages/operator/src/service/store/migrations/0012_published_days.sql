-- In the order in which the publisher locks them. No batch changes between the triggers and the sums.
LOCK TABLE "batches", "public_keys", "batch_shares" IN SHARE ROW EXCLUSIVE MODE;--> statement-breakpoint
CREATE INDEX "batches_by_block" ON "batches" USING btree ("block_number");--> statement-breakpoint
CREATE INDEX "batches_by_time" ON "batches" USING btree ("created","root");--> statement-breakpoint
CREATE INDEX "pending_keys_by_time" ON "public_keys" USING btree ("biz_id","publishable_at") WHERE "public_keys"."root" is null;--> statement-breakpoint
CREATE INDEX "publishable_keys" ON "public_keys" USING btree ("publishable_at","region") WHERE "public_keys"."root" is null;--> statement-breakpoint
CREATE TABLE "published_days" (
	"biz_id" text NOT NULL,
	"day" bigint NOT NULL,
	"users" bigint NOT NULL,
	"cost" numeric(40, 0) NOT NULL,
	"unpriced" bigint NOT NULL,
	CONSTRAINT "published_days_biz_id_day_pk" PRIMARY KEY("biz_id","day")
);
--> statement-breakpoint
-- The beginning of the day on which a batch was published.
CREATE FUNCTION "published_day"("batch" "batches") RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce("batch"."confirmed", "batch"."created") / 86400000 * 86400000
$$;--> statement-breakpoint
-- The cost of so many users of a batch: in proportion, and more users may have the root than got it then.
CREATE FUNCTION "published_cost"("batch" "batches", "part" integer) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce(div("batch"."cost" * "part", greatest("batch"."added_count", "part")), 0)
$$;--> statement-breakpoint
-- Two triggers maintain published_days, whichever version of the service changes batches and shares. The first one moves the
-- shares of a batch that is confirmed, or that a reorganization removed.
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
CREATE TRIGGER "count_published_batch" AFTER UPDATE ON "batches" FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION "count_published_batch"();--> statement-breakpoint
-- The second one adds or subtracts shares. It locks their batches first, so that a concurrent change of a batch sees the shares,
-- or is seen here.
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
CREATE TRIGGER "uncount_published_shares" AFTER DELETE ON "batch_shares" REFERENCING OLD TABLE AS "changed" FOR EACH STATEMENT EXECUTE FUNCTION "count_published_shares"();--> statement-breakpoint
INSERT INTO "published_days" ("biz_id", "day", "users", "cost", "unpriced")
SELECT "share"."biz_id", published_day("batches"), sum("share"."users"), sum(published_cost("batches", "share"."users")),
	sum(CASE WHEN "batches"."cost" IS NULL THEN "share"."users" ELSE 0 END)
FROM "batch_shares" "share" JOIN "batches" USING ("root") WHERE "batches"."block_number" IS NOT NULL
GROUP BY 1, 2;
