<!-- The request of WSO2's benchmark of transformation: orders under other names, all else as it came. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:m="http://services.samples/xsd">
  <xsl:output method="xml" omit-xml-declaration="yes"/>

  <xsl:template match="@* | node()">
    <xsl:copy>
      <xsl:apply-templates select="@* | node()"/>
    </xsl:copy>
  </xsl:template>

  <xsl:template match="m:buyStocks">
    <m:skcotSyub>
      <xsl:for-each select="order">
        <redro>
          <lobmys><xsl:value-of select="symbol"/></lobmys>
          <DIreyub><xsl:value-of select="buyerID"/></DIreyub>
          <ecirp><xsl:value-of select="price"/></ecirp>
          <emulov><xsl:value-of select="volume"/></emulov>
        </redro>
      </xsl:for-each>
    </m:skcotSyub>
  </xsl:template>
</xsl:stylesheet>
