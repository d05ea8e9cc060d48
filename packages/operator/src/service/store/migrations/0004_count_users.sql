-- Maintains user_counts, whichever version of the service inserts the rows: once per statement, in its transaction.
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
INSERT INTO "user_counts" ("biz_id", "shard", "users") SELECT "biz_id", 0, count(*) FROM "user_ids" GROUP BY "biz_id";
--> statement-breakpoint
-- Leaves room for new versions of rows whose last_used changes, which then need no new index entries.
ALTER TABLE "server_tokens" SET (fillfactor = 80);--> statement-breakpoint
ALTER TABLE "user_tokens" SET (fillfactor = 80);
